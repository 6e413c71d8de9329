// <reader-time datetime zone>: says the instant in the reader's own zone, and
// stays hidden where clocks there and in zone agree at that instant.
const here = Intl.DateTimeFormat().resolvedOptions().timeZone

function wall(instant, timeZone) {
  return new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short", timeStyle: "short", hourCycle: "h23" }).format(instant)
}

class ReaderTime extends HTMLElement {
  static observedAttributes = ["datetime", "zone"]

  connectedCallback() { this.#say() }

  attributeChangedCallback() { if (this.isConnected) this.#say() }

  #say() {
    const instant = new Date(this.getAttribute("datetime"))
    if (Number.isNaN(instant.getTime())) return
    try {
      this.hidden = wall(instant, here) === wall(instant, this.getAttribute("zone"))
    } catch {
      this.hidden = true // a zone this browser does not know
      return
    }
    if (this.hidden) return
    const sameDay = wall(instant, here).slice(0, 10) === wall(instant, this.getAttribute("zone")).slice(0, 10)
    const day = sameDay ? {} : { weekday: "short", day: "numeric", month: "short" }
    const time = new Intl.DateTimeFormat(document.documentElement.lang, { ...day, hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(instant)
    this.textContent = `(${time} for you)`
    this.title = here
  }
}
customElements.define("reader-time", ReaderTime)
