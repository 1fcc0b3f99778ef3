// Answers one row through the C interface: predict MODEL CELL...
package main

/*
#cgo pkg-config: lamina_predict
#include <stdlib.h>
#include <lamina/lamina.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"
)

func predict(path string, cells []string) ([]float64, error) {
	// What went wrong is kept for each thread of the system: stay on this one.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	model := C.lamina_load(name)
	if model == nil {
		return nil, errors.New(C.GoString(C.lamina_error()))
	}
	defer C.lamina_free(model)
	if len(cells) != int(C.lamina_columns(model)) {
		return nil, fmt.Errorf("a row of this model has %d columns", int(C.lamina_columns(model)))
	}
	texts := (*[1 << 20]*C.char)(C.malloc(C.size_t(len(cells)+1) * C.size_t(unsafe.Sizeof(name))))
	defer C.free(unsafe.Pointer(texts))
	for i, cell := range cells {
		texts[i] = C.CString(cell)
		defer C.free(unsafe.Pointer(texts[i]))
	}
	outputs := make([]float64, int(C.lamina_outputs(model)))
	if C.lamina_predict_text(model, &texts[0], 1, (*C.double)(&outputs[0])) != 0 {
		return nil, errors.New(C.GoString(C.lamina_error()))
	}
	return outputs, nil
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: predict MODEL CELL...")
		os.Exit(2)
	}
	outputs, err := predict(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "predict:", err)
		os.Exit(1)
	}
	fmt.Printf("%.9g\n", outputs[0])
}
