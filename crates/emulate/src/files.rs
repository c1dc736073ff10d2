//! What simulated devices are opened from.

/// Model files and saved states of simulated devices, by their paths.
#[derive(Clone, Copy, Debug)]
pub struct SimFiles;

impl flashscope_sim::Files for SimFiles {
    fn model(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|error| error.to_string())
    }

    fn state(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        match std::fs::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.to_string()),
            Ok(file) if !file.is_file() => return Err("it is no file".to_owned()),
            Ok(file) if file.len() > flashscope_sim::LARGEST_STATE => return Err("it is too large for one".to_owned()),
            Ok(_) => {}
        }
        std::fs::read(path).map(Some).map_err(|error| error.to_string())
    }
}
