// <writing-tools>: panels whose buttons write into the form's text fields. A button
// with data-opens opens the panel of that id; what is chosen there, data-insert, goes
// to the caret of the field beside it that was written in last, or of data-field; to
// the end of one that nobody was in yet.
const BESIDE = ".piece, .variant, .composer-section"

class WritingTools extends HTMLElement {
  #off
  #last // the id of the text field that was written in last
  #been = new WeakSet() // those that somebody was in
  #field // and of the one that the open panel writes into

  get #dialogs() { return [...this.querySelectorAll("dialog")] }

  connectedCallback() {
    this.#off = new AbortController()
    const { signal } = this.#off
    const on = (target, type, f) => target.addEventListener(type, f, { signal })
    on(document, "focusin", (e) => this.#enter(e.target))
    on(document, "click", (e) => this.#click(e))
    on(this, "input", (e) => e.stopPropagation()) // what is looked for is not the post
    on(this, "change", (e) => e.stopPropagation())
    on(this, "keydown", (e) => { if (e.key === "Enter" && e.target.matches("input")) e.preventDefault() }) // nor saves it
    for (const dialog of this.#dialogs) if (dialog.open) this.#show(dialog) // it was drawn for who has no script
  }

  disconnectedCallback() { this.#off.abort() }

  #enter(field) {
    if (!field.matches("textarea[id]")) return
    this.#been.add(field)
    this.#last = field.id
  }

  #click(e) {
    const opener = e.target.closest("[data-opens]")
    const dialog = e.target.closest("writing-tools dialog")
    const words = e.target.closest("[data-insert]")
    if (opener) {
      e.preventDefault()
      this.#aim(opener)
      this.#show(document.getElementById(opener.dataset.opens))
    } else if (dialog && words) {
      e.preventDefault()
      dialog.close()
      this.#write(words.dataset.insert, dialog.dataset.bare !== undefined)
    } else if (dialog && (e.target === dialog || e.target.closest('[data-action="close-tools"]'))) {
      e.preventDefault()
      dialog.close()
    }
  }

  #aim(opener) {
    const last = document.getElementById(this.#last)
    const beside = opener.closest(BESIDE)
    this.#field = last && last.closest(BESIDE) === beside ? this.#last : opener.dataset.field
  }

  #show(dialog) {
    if (dialog.open) dialog.close()
    dialog.showModal()
    dialog.querySelector("[data-fills]")?.dispatchEvent(new Event("fill", { bubbles: true }))
    if (matchMedia("(pointer: fine)").matches) dialog.querySelector("input[type=search]")?.focus()
  }

  // Words are kept apart from those around them; what is bare is not.
  #write(words, bare) {
    const field = document.getElementById(this.#field)
    if (!field) return
    if (!this.#been.has(field)) field.setSelectionRange(field.value.length, field.value.length)
    const { selectionStart: from, selectionEnd: to, value } = field
    const before = !bare && from > 0 && !/\s/.test(value[from - 1]) ? " " : ""
    const after = !bare && to < value.length && !/\s/.test(value[to]) ? " " : ""
    field.focus()
    field.setRangeText(before + words + after, from, to, "end")
    field.dispatchEvent(new Event("input", { bubbles: true }))
  }
}
customElements.define("writing-tools", WritingTools)
