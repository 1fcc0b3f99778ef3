// Answers one row through the C interface: predict MODEL CELL...
use std::ffi::{c_char, c_int, CStr, CString};

#[repr(C)]
pub struct LaminaModel {
    _private: [u8; 0],
}

extern "C" {
    fn lamina_load(path: *const c_char) -> *mut LaminaModel;
    fn lamina_free(model: *mut LaminaModel);
    fn lamina_columns(model: *const LaminaModel) -> i64;
    fn lamina_outputs(model: *const LaminaModel) -> i64;
    fn lamina_predict_text(model: *const LaminaModel, cells: *const *const c_char, rows: i64, outputs: *mut f64) -> c_int;
    fn lamina_error() -> *const c_char;
}

/// A model, which never changes after loading: any thread may ask it.
pub struct Model(*mut LaminaModel);
unsafe impl Send for Model {}
unsafe impl Sync for Model {}

fn error() -> String {
    unsafe { CStr::from_ptr(lamina_error()) }.to_string_lossy().into_owned()
}

impl Model {
    pub fn load(path: &str) -> Result<Model, String> {
        let path = CString::new(path).map_err(|e| e.to_string())?;
        let model = unsafe { lamina_load(path.as_ptr()) };
        if model.is_null() { Err(error()) } else { Ok(Model(model)) }
    }

    pub fn predict(&self, cells: &[&str]) -> Result<Vec<f64>, String> {
        if cells.len() as i64 != unsafe { lamina_columns(self.0) } {
            return Err(format!("a row of this model has {} columns", unsafe { lamina_columns(self.0) }));
        }
        let texts: Vec<CString> = cells.iter().map(|c| CString::new(*c)).collect::<Result<_, _>>().map_err(|e| e.to_string())?;
        let pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
        let mut outputs = vec![0.0; unsafe { lamina_outputs(self.0) } as usize];
        match unsafe { lamina_predict_text(self.0, pointers.as_ptr(), 1, outputs.as_mut_ptr()) } {
            0 => Ok(outputs),
            _ => Err(error()),
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        unsafe { lamina_free(self.0) }
    }
}

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().collect();
    let path = words.get(1).ok_or("usage: predict MODEL CELL...")?;
    let cells: Vec<&str> = words[2..].iter().map(String::as_str).collect();
    println!("{}", Model::load(path)?.predict(&cells)?[0]);
    Ok(())
}
