// After an @, the names of who may see the post: a list of the server's, which narrows
// as one types. The focus stays in the field; the arrows walk the list, Enter or Tab
// takes a name, Escape puts the list away. Without script, a name is typed whole.
const typed = /(?:^|[^\p{L}\p{N}_])@([\p{L}\p{N}_'’. -]{0,40})$/u

class MentionField extends HTMLElement {
  #off
  #field
  #at = -1

  connectedCallback() {
    this.#off = new AbortController()
    this.#field = this.querySelector("textarea")
    if (!this.#field) return
    const on = (type, f) => this.addEventListener(type, f, { signal: this.#off.signal })
    on("input", () => this.#look())
    on("htmx:after:swap", () => this.#look())
    on("focusout", (e) => { if (!this.contains(e.relatedTarget)) this.#close() })
    on("keydown", (e) => this.#key(e))
    on("mousedown", (e) => { if (e.target.closest("[role=option]")) e.preventDefault() })
    on("click", (e) => { const o = e.target.closest("[role=option]"); if (o) this.#take(o) })
  }

  disconnectedCallback() { this.#off.abort() }

  get #list() { return this.querySelector("[role=listbox]") }
  get #shown() { return [...(this.#list?.children ?? [])].filter((o) => !o.hidden) }

  // what stands behind the @ before the caret; null if there is none
  #words() {
    const f = this.#field
    if (f.selectionStart !== f.selectionEnd) return null
    return typed.exec(f.value.slice(0, f.selectionStart))?.[1] ?? null
  }

  #look() {
    const words = this.#words()?.toLowerCase()
    if (words == null || !this.#list) return this.#close()
    for (const o of this.#list.children) {
      const name = o.dataset.name.toLowerCase()
      o.hidden = name === words || !(name.startsWith(words) || name.split(" ").some((w) => w.startsWith(words)))
    }
    if (this.#shown.length === 0) return this.#close()
    this.#list.hidden = false
    const a = { role: "combobox", "aria-haspopup": "listbox", "aria-autocomplete": "list", "aria-expanded": "true", "aria-controls": this.#list.id }
    for (const [name, value] of Object.entries(a)) this.#field.setAttribute(name, value)
    this.#mark(0)
  }

  #mark(at) {
    this.#at = at
    const shown = this.#shown
    for (const o of this.#list.children) o.setAttribute("aria-selected", String(o === shown[at]))
    this.#field.setAttribute("aria-activedescendant", shown[at].id)
    shown[at].scrollIntoView({ block: "nearest" })
  }

  #close() {
    this.#at = -1
    if (this.#list) this.#list.hidden = true
    for (const name of ["role", "aria-haspopup", "aria-autocomplete", "aria-expanded", "aria-controls", "aria-activedescendant"]) this.#field.removeAttribute(name)
  }

  #key(e) {
    if (this.#at < 0 || e.target !== this.#field || e.isComposing) return
    const shown = this.#shown
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key]
    if (by) this.#mark((this.#at + by + shown.length) % shown.length)
    else if ((e.key === "Enter" || e.key === "Tab") && !e.ctrlKey && !e.metaKey && !e.shiftKey) this.#take(shown[this.#at])
    else if (e.key === "Escape") this.#close()
    else return
    e.preventDefault()
    e.stopPropagation()
  }

  #take(option) {
    const f = this.#field
    const from = f.selectionStart - this.#words().length
    f.setRangeText(option.dataset.name + " ", from, f.selectionStart, "end")
    this.#close()
    f.focus()
    f.dispatchEvent(new Event("input", { bubbles: true }))
  }
}
customElements.define("mention-field", MentionField)
