# Homebrew: brew install --formula ./lamina.rb, or a tap that has this file in Formula.
class Lamina < Formula
  desc "Neural layers at the speed of the hardware"
  homepage "@URL@"
  url "@URL@/lamina-@VERSION@.tar.gz"
  sha256 "@SHA256_SOURCE@"
  license "Apache-2.0"

  depends_on "cli11" => :build
  depends_on "cmake" => :build
  depends_on "fast_float" => :build
  depends_on "nanoflann" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  depends_on "tomlplusplus" => :build
  depends_on "expat"
  depends_on "fmt"
  depends_on "highway"
  depends_on :linux
  depends_on "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DLAMINA_TESTS=OFF", "-DLAMINA_GUI=OFF", "-DLAMINA_CUDA=OFF",
           "-DLAMINA_BLAS=OFF", *std_cmake_args
    system "cmake", "--build", "build", "--target", "lamina_cli", "lamina_help_files"
    system "cmake", "--install", "build", "--component", "program"
  end

  test do
    (testpath/"x.csv").write (0..99).map { |i| "#{i},#{100 - i},#{(i > 50) ? 1 : 0}" }.unshift("a,b,y").join("\n")
    system bin/"lamina", "train", "x.csv", "--epochs", "2", "--model", "m.safetensors"
    assert_path_exists testpath/"m.safetensors"
  end
end
