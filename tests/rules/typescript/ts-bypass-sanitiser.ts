export class CommentComponent {
  show(comment: string, link: string) {
    this.html = this.sanitizer.bypassSecurityTrustHtml(comment); // expect
    this.link = this.sanitizer.bypassSecurityTrustUrl(link); // expect
    this.frame = this.sanitizer.bypassSecurityTrustResourceUrl(`https://${link}`); // expect
  }

  safe(comment: string) {
    this.html = this.sanitizer.bypassSecurityTrustHtml("<b>new</b>"); // ok: a constant
    this.text = comment; // ok: bound as text
    this.html = this.sanitizer.sanitize(SecurityContext.HTML, comment); // ok: cleaned
  }
}
