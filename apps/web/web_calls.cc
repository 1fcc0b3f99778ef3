// The table of calls, and the one function that the page's worker calls.
#include "web_calls.h"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <string>

#include "lamina/base/error.h"
#include "web_state.h"

namespace lamina::web {
namespace {

using nlohmann::json;

struct Call {
  std::string_view name;
  json (*answer)(const json& request, WebState& state);
};

constexpr std::array kCalls{Call{"about", TellAbout},    Call{"open", OpenData},
                            Call{"plan", PlanOfRun},     Call{"start", StartRun},
                            Call{"slice", RunSlice},     Call{"keep", KeepRun},
                            Call{"end", EndRun},         Call{"importance", TellImportance},
                            Call{"model", OpenModel},    Call{"write", WriteModel},
                            Call{"predict", PredictFile}};

json ErrorJson(const Error& error) {
  return {{"error", error.what()}, {"code", ErrorCodeName(error.code())}, {"setting", error.context().setting}};
}

}  // namespace

json Answer(const json& request) {
  static WebState state;
  const auto name = request.at("do").get<std::string>();
  const auto* const call =
      std::find_if(kCalls.begin(), kCalls.end(), [&](const Call& each) { return each.name == name; });
  if (call == kCalls.end()) {
    throw Error(ErrorCode::kInvalidArgument, "the page asks for what this library does not know", {.value = name});
  }
  return call->answer(request, state);
}

}  // namespace lamina::web

/// `request` and the answer are texts of JSON; that of a refusal is {"error": what the program says, "code",
/// "setting"}. The answer lives until the next call.
extern "C" const char* lamina_web_call(const char* request) {
  static std::string answer;
  nlohmann::json made;
  try {
    made = lamina::web::Answer(nlohmann::json::parse(request));
  } catch (const lamina::Error& error) {
    made = lamina::web::ErrorJson(error);
  } catch (const std::bad_alloc&) {
    made = lamina::web::ErrorJson(
        {lamina::ErrorCode::kResource, "not enough memory in this tab", {.remedy = "Use fewer rows, or the program."}});
  } catch (const std::exception& error) {
    made = lamina::web::ErrorJson({lamina::ErrorCode::kInvalidArgument, error.what()});
  }
  answer = made.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return answer.c_str();
}
