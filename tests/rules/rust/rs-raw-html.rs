fn show(element: &Element, comment: &str, page: &Page) -> Markup {
    element.set_inner_html(comment); // expect
    element.set_inner_html(&format!("<b>{comment}</b>")); // expect
    PreEscaped(comment) // expect
}

fn safe(element: &Element, comment: &str) -> Markup {
    element.set_text_content(Some(comment)); // ok: text
    element.set_inner_html(""); // ok: a constant
    PreEscaped("<br>") // ok: a constant
}
