async fn hello(name: String) -> Html<String> {
    Html(format!("<h1>Hello {name}</h1>")) // expect
}

async fn link(name: String) -> HttpResponse {
    HttpResponse::Ok().body(format!("<a href='/{}'>you</a>", name)) // expect
}

fn bold(name: &str) -> Markup {
    PreEscaped(format!("<b>{name}</b>")) // expect
}

async fn safe(name: String) -> Html<String> {
    let text = format!("Hello {name}"); // ok: no markup
    let note = format!("<b>{name}</b>"); // ok: not a page
    Html(format!("<h1>{TITLE}</h1>")) // ok: a constant
}
