//! The executable; all code is in the library.

fn main() -> std::process::ExitCode {
    glee::cli::main()
}
