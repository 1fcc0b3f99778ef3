// Which of the two binaries this browser takes (docs/decisions/0113-relaxed-simd.md).

// A module whose function multiplies and adds by one instruction of vectors: who takes it gets kernels that do so.
const relaxedModule = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 19, 1, 17, 0, 65, 0, 253, 15, 65, 0, 253, 15,
                       65, 0, 253, 15, 253, 133, 2, 11];
const knowsRelaxed = () => globalThis.WebAssembly?.validate(new Uint8Array(relaxedModule));
