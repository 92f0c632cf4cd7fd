// kernel copy_f64 uses f64; this adapter lacks SHADER_F64
