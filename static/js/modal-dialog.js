// <modal-dialog> holds a native dialog. A link with data-action="open-dialog"
// opens the one it names and is followed when that is not on this page; a
// dialog that arrives open turns modal.
// The focus goes to the first control of the content rather than to Close.
export function show(dialog) {
  dialog.showModal()
  const first = dialog.querySelector("[autofocus]") ??
    dialog.querySelector(".dialog-body :is(input:not([type=hidden]), textarea, select)")
  first?.focus()
}

class ModalDialog extends HTMLElement {
  #off

  get #dialog() { return this.querySelector("dialog") }

  connectedCallback() {
    this.#off = new AbortController()
    const { signal } = this.#off
    this.addEventListener("click", (e) => this.#click(e), { signal })
    const dialog = this.#dialog
    if (dialog?.open && !dialog.matches(":modal")) {
      dialog.close()
      show(dialog)
    }
  }

  disconnectedCallback() { this.#off.abort() }

  #click(e) {
    const dialog = this.#dialog
    const closer = e.target.closest('[data-action="close-dialog"]')
    if (!dialog.matches(":modal") || !(closer?.closest("dialog") === dialog || this.#outside(e))) return
    e.preventDefault()
    dialog.close()
  }

  // The backdrop belongs to the dialog, so a click on it hits the dialog itself.
  #outside(e) {
    if (e.target !== this.#dialog) return false
    const box = e.target.getBoundingClientRect()
    return e.clientX < box.left || e.clientX > box.right || e.clientY < box.top || e.clientY > box.bottom
  }
}
customElements.define("modal-dialog", ModalDialog)

document.addEventListener("click", (e) => {
  if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey) return
  const opener = e.target.closest('[data-action="open-dialog"]')
  const dialog = opener && document.getElementById(opener.dataset.dialog)
  if (!dialog?.showModal) return
  e.preventDefault()
  if (!dialog.open) show(dialog)
})
