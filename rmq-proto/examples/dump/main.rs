//! Says what frames say: `cargo run -p rmq-proto --example dump -- HEX`, or `-- --help`.

mod dump;

use std::io::{self, BufWriter, ErrorKind, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut out = BufWriter::new(io::stdout().lock());
    let arguments = std::env::args_os().skip(1);
    let status = dump::run(arguments, &mut io::stdin().lock(), &mut out, &mut io::stderr());
    match status.and_then(|status| out.flush().map(|()| status)) {
        Ok(status) => status.into(),
        // Who reads has seen enough, as `head` does.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell, should this fail too.
            let _ = writeln!(io::stderr(), "writing failed: {error}");
            ExitCode::FAILURE
        }
    }
}
