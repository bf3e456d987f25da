//! The program; everything is in the library.

fn main() -> std::process::ExitCode {
    glee::cli::main()
}
