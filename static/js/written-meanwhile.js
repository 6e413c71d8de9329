// What is written while an answer is on its way that draws the fields anew: it goes into
// the field that holds what was sent, wherever that stands now, and the caret with it.
const WRITTEN = "textarea, input:is([type=text], [type=url], [type=search], :not([type]))"
const sent = new WeakMap() // by request: what the fields of its place held
const late = new WeakMap() // and what was written since

const fields = (place) => [...(place?.querySelectorAll?.(WRITTEN) ?? [])]

document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
  sent.set(ctx, fields(ctx.target).map((field) => ({ field, id: field.id, was: field.value })))
})

document.addEventListener("htmx:before:swap", ({ detail: { ctx } }) => {
  const now = (sent.get(ctx) ?? []).map((one) => ({ ...one, is: one.field.value, at: one.field === document.activeElement && one.field.selectionStart }))
  late.set(ctx, now.filter(({ was, is, at }) => was !== is || at !== false))
})

document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
  const all = fields(document.getElementById(ctx.target?.id))
  for (const { id, was, is, at } of late.get(ctx) ?? []) {
    if (all.some((field) => field.id === id && field.value === is && was !== is)) continue // it was spared
    const field = all.find((f) => f.id === id && f.value === was) ?? all.find((f) => f.value === was)
    if (!field) continue
    if (was !== is) {
      field.value = is
      field.dispatchEvent(new Event("input", { bubbles: true }))
    }
    if (at === false) continue
    field.focus()
    field.setSelectionRange(at, at)
  }
})
