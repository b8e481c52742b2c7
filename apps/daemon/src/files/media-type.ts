/** A value of `Content-Type` or `Content-Disposition`. */
export interface MediaType {
  /** In lower case, such as `multipart/form-data`. */
  readonly type: string
  /** By name in lower case. Values are byte strings (latin1) as headers are. */
  readonly parameters: ReadonlyMap<string, string>
  /** False if a parameter is malformed; `parameters` is empty then. */
  readonly wellFormed: boolean
}

const TOKEN = /^[!#$%&'*+\-.^_`{|}~0-9A-Za-z]+/
const SPECIALS = '()<>@,;:\\"/[]?='
const WELL_FORMED_TYPE = /^[!#$%&'*+\-.^_`{|}~0-9A-Za-z]+(?:\/[!#$%&'*+\-.^_`{|}~0-9A-Za-z]+)?$/

/**
 * Parses a type and its parameters, RFC 2231 continuations and percent encoding included. Undefined for an invalid type and for a
 * parameter that is repeated with another value.
 */
export function parseMediaType(header: string): MediaType | undefined {
  const [first = ''] = header.split(';', 1)
  const type = first.trim().toLowerCase()
  if (!WELL_FORMED_TYPE.test(type)) return undefined
  const raw = new Map<string, string>()
  for (let rest = header.slice(first.length).trimStart(); rest !== '';) {
    const parameter = takeParameter(rest)
    if (parameter === undefined) {
      return rest.trim() === ';'
        ? { type, parameters: decodeParameters(raw), wellFormed: true }
        : { type, parameters: new Map(), wellFormed: false }
    }
    const known = raw.get(parameter.name)
    if (known !== undefined && known !== parameter.value) return undefined
    raw.set(parameter.name, parameter.value)
    rest = parameter.rest.trimStart()
  }
  return { type, parameters: decodeParameters(raw), wellFormed: true }
}

function takeParameter(text: string): { name: string; value: string; rest: string } | undefined {
  const assignment = /^;\s*([!#$%&'*+\-.^_`{|}~0-9A-Za-z]+)\s*=\s*/.exec(text)
  if (assignment?.[1] === undefined) return undefined
  const value = takeValue(text.slice(assignment[0].length))
  return value && { name: assignment[1].toLowerCase(), ...value }
}

function takeValue(text: string): { value: string; rest: string } | undefined {
  if (!text.startsWith('"')) {
    const token = TOKEN.exec(text)?.[0]
    return token === undefined ? undefined : { value: token, rest: text.slice(token.length) }
  }
  let value = ''
  for (let at = 1; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '"') return { value, rest: text.slice(at + 1) }
    if (character === '\r' || character === '\n') return undefined
    // A backslash before anything else stands for itself: some clients send Windows paths as they are.
    const escapes = character === '\\' && at + 1 < text.length && SPECIALS.includes(text.charAt(at + 1))
    value += escapes ? text.charAt(++at) : character
  }
  return undefined
}

/** Joins `name*0`, `name*1*`, ... and decodes `name*`, which wins over a plain `name`. */
function decodeParameters(raw: ReadonlyMap<string, string>): Map<string, string> {
  const plain = [...raw].filter(([name]) => !name.includes('*'))
  const bases = new Set([...raw.keys()].filter((name) => name.includes('*')).map((name) => name.slice(0, name.indexOf('*'))))
  const extended = [...bases].flatMap((base): [string, string][] => {
    const value = extendedValue(raw, base)
    return value === undefined ? [] : [[base, value]]
  })
  return new Map([...plain, ...extended])
}

function extendedValue(raw: ReadonlyMap<string, string>, base: string): string | undefined {
  const whole = raw.get(`${base}*`)
  if (whole !== undefined) return decodeExtended(whole)
  let joined: string | undefined
  for (let part = 0; ; part++) {
    const plain = raw.get(`${base}*${part}`)
    const encoded = raw.get(`${base}*${part}*`)
    if (plain === undefined && encoded === undefined) return joined
    joined = (joined ?? '') + (plain ?? (part === 0 ? decodeExtended(encoded ?? '') : percentDecode(encoded ?? '')) ?? '')
  }
}

/** `charset'language'value`; other charsets than UTF-8 and ASCII are not understood. */
function decodeExtended(text: string): string | undefined {
  const [charset = '', , value] = text.split("'", 3)
  if (value === undefined || !['utf-8', 'us-ascii'].includes(charset.toLowerCase())) return undefined
  return percentDecode(text.slice(text.indexOf("'", charset.length + 1) + 1))
}

function percentDecode(text: string): string | undefined {
  if (/%(?![0-9a-f]{2})/i.test(text)) return undefined
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
