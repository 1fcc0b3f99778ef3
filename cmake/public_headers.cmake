# The headers that are installed: the library's public API. Everything else in lamina/ may change from one version to the next.
# scripts/check_includes holds what the pages and examples include against the first list, and what these include against all.

# What a program includes.
set(lamina_public_headers
    backend/backends.h base/stop.h base/version.h cluster/communicator.h cluster/mpi.h cluster/thread_ranks.h data/encode/bound_table.h data/files/npy_matrix.h data/files/npy_writer.h data/files/reader.h lamina.h lamina.hpp
    layer/file_layer.h layer/layer.h layer/neighbour_tree.h layer/neighbours.h model/answer.h model/c_source/c_source.h model/c_source/int8_rows.h model/cell_rows.h model/html_page/html_page.h model/html_page/page_blob.h model/onnx_export.h model/predictor.h model/row_encoder.h
    neuron/problem.h nn/executor.h rbf/clusters.h rbf/elm.h rbf/fsvc.h rbf/kernel_machine.h rbf/kernel_network.h run/remarks.h run/result_json.h run/run_plan.h run/session.h settings/validation.h tune/profile.h
    tune/tuner.h)
# What those include: types in their interfaces.
set(lamina_public_parts
    backend/backend.h backend/cpu/row_forward.h backend/cpu/row_kernels.h backend/cpu/row_storage.h backend/cpu/row_task.h backend/elementwise.h backend/gpu_info.h backend/plan.h boost/column_bins.h boost/trees.h base/buffer.h base/check.h
    base/dtype.h base/error.h base/exchanged_parts.h base/file.h base/half.h base/mapped_file.h base/matrix_view.h base/names.h
    base/part_file.h base/row_source.h base/setting.h base/sparse_matrix.h data/encode/class_map.h data/encode/dataset.h
    data/encode/decisions.h data/encode/derive.h data/encode/fitted_column.h data/encode/input_encoder.h data/encode/preprocess_options.h data/encode/text_scores.h
    data/encode/preprocessor.h data/encode/sample_weights.h data/encode/target_encoder.h data/encode/useless_columns.h
    data/files/read_options.h data/files/table.h layer/sliced_layer.h layer/slices.h model/bootstrap.h model/calibrate.h model/cost_matrix.h model/data_profile.h model/evaluate.h model/int8_ranges.h model/metric.h
    model/metric_table.h model/metrics.h model/model.h model/nearest_predictor.h model/outputs.h model/safetensors.h model/scored_rows.h neuron/activation.h neuron/formula_parameters.h neuron/formulas.h
    neuron/formulas.inc neuron/loss.h neuron/update_rule.h neuron/weight_storage.h nn/conjunctions.h nn/gradient_parts.h nn/network.h nn/normalization.h nn/parameter_array.h nn/parameter_table.h nn/routes.h nn/step_options.h rbf/novelty.h
    run/folds.h run/int8_outcome.h settings/auto_training.h settings/meanings.h settings/output_plan.h settings/recipe.h settings/recipe_names.h settings/settings.h settings/split.h
    train/history.h train/schedule.h train/train_callbacks.h train/train_options.h train/train_progress.h train/train_state.h
    train/trainer.h)
# For activations of one's own on a GPU, compiled by nvcc.
set(lamina_public_device_headers
    backend/copy_streams.h backend/cuda/activation.cuh backend/cuda/custom_activation.cuh backend/cuda/device.h
    backend/cuda/epilogue.cuh backend/cuda/language.h backend/cuda/numbers.cuh backend/cuda/whole_batch.cuh
    backend/cuda/whole_batch.h)
