/** A part of the value of a rule's header: text, or what the egress gateway puts in its place (control-plane.md 18.5). */
export type HeaderPart = string | { readonly secret: string } | { readonly token: string }

const START = '${e2b.'
const PLACEHOLDER = /\$\{e2b\.(?:secrets\.(?<secret>[A-Za-z0-9_-]{1,128})|identity\.tokens\.(?<token>[^{}]{1,128}))\}/y

/** The parts of a value in their order, names of secrets in lower case. Undefined for a malformed placeholder. */
export function readHeaderParts(value: string): HeaderPart[] | undefined {
  const parts: HeaderPart[] = []
  let end = 0
  for (let at = value.indexOf(START); at !== -1; at = value.indexOf(START, end)) {
    PLACEHOLDER.lastIndex = at
    const found = PLACEHOLDER.exec(value)
    if (found === null) return undefined
    const { secret, token = '' } = found.groups ?? {}
    if (at > end) parts.push(value.slice(end, at))
    // The names of secrets do not differ by case.
    parts.push(secret === undefined ? { token } : { secret: secret.toLowerCase() })
    end = PLACEHOLDER.lastIndex
  }
  return end < value.length ? [...parts, value.slice(end)] : parts
}
