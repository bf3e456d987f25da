//! The executable, which only calls the library.

fn main() -> std::process::ExitCode {
    glee::cli::main()
}
