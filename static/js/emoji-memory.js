// What this browser remembers of emoji: the skin tone, and the last ones used.
const TONE = "herald emoji tone"
const USED = "herald emoji used"
const KEPT = 16

export const toneKept = () => localStorage.getItem(TONE) ?? "0"

export const keepTone = (tone) => localStorage.setItem(TONE, tone)

// usedLast are the plain emoji, the last one first.
export const usedLast = () => JSON.parse(localStorage.getItem(USED) ?? "[]")

export function keepUsed(plain) {
  const others = usedLast().filter((p) => p !== plain)
  localStorage.setItem(USED, JSON.stringify([plain, ...others].slice(0, KEPT)))
}
