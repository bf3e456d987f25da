const DB_PASSWORD: &str = "hunter2-prod"; // expect
static API_KEY: &str = "9f86d081884c7d65"; // expect

fn connect() -> Client {
    let client_secret = "S3cr3t!".to_string(); // expect
    let config = Config { password: String::from("letmein99"), user: "app".into() }; // expect
    let key = EncodingKey::from_secret(b"shop-jwt-2021"); // expect
    Client::new().bearer_auth("d6f1c0a94be2") // expect
}

const PASSWORD_FIELD: &str = "password_confirmation"; // ok: a field's name
const SECRET_KEY: &str = "changeme"; // ok: a placeholder
const API_TOKEN: &str = "API_TOKEN"; // ok: a variable's name

fn safe() -> Client {
    let password = std::env::var("PASSWORD")?; // ok: from the environment
    let access_token = format!("{user}-{seed}"); // ok: built
    Client::new().bearer_auth(token) // ok: a variable
}

#[cfg(test)]
mod tests {
    const PASSWORD: &str = "hunter2-prod"; // ok: a test
}
