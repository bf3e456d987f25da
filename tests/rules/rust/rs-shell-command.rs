use std::process::Command;

fn ping(host: &str, line: &str) {
    Command::new("sh").arg("-c").arg(format!("ping {host}")).status(); // expect
    Command::new("bash").arg("-c").arg(line).output(); // expect
    Command::new("sh").args(["-c", line]).spawn(); // expect
    Command::new("cmd").args(&["/C", &format!("ping {host}")]).spawn(); // expect
}

fn safe(host: &str) {
    Command::new("ping").arg(host).status(); // ok: no shell
    Command::new("sh").arg("-c").arg("uptime").status(); // ok: a constant
    Command::new("sh").args(["-c", "uptime"]).status(); // ok: a constant
    Command::new("sh").arg(host).status(); // ok: a script's name
}
