export function Comment({ text, html }: Props) {
  return (
    <article>
      <p>{text}</p>
      <div
        dangerouslySetInnerHTML={{ __html: marked(html) }} // expect
      />
      <div
        dangerouslySetInnerHTML={{ __html: `<b>${text}</b>` }} // expect
      />
      <div
        dangerouslySetInnerHTML={html} // expect
      />
    </article>
  );
}

export function Safe({ text }: Props) {
  return (
    <article>
      <p
        title={text} // ok: text
      />
      <p
        dangerouslySetInnerHTML={{ __html: DOMPurify.sanitize(text) }} // ok: cleaned
      />
      <p
        dangerouslySetInnerHTML={{ __html: "<b>new</b>" }} // ok: a constant
      />
    </article>
  );
}
