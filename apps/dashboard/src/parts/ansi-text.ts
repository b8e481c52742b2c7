/** A piece of text with the class of its colour; undefined: the usual one. */
export interface AnsiPart {
  readonly text: string
  readonly colour: string | undefined
  readonly isBold: boolean
}

const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const

/** Every escape sequence: CSI, OSC (to BEL or ST), and two-character ones. */
// oxlint-disable-next-line no-control-regex
const ESCAPE = /\u001b(?:\[([0-9;:]*)[ -/]*([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[()*+#%][^\u001b]|[@-Z\\^_=>78])/g

/** Control characters that have no picture. A carriage return inside a line is shown: progress bars use it, and nothing of them may be lost. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u009b]/g

/** Of ANSI only colours and bold remain (dashboard-and-cli.md 5.3); everything else that a terminal would obey is removed. */
export function ansiParts(line: string): readonly AnsiPart[] {
  const parts: AnsiPart[] = []
  let colour: string | undefined
  let isBold = false
  let from = 0
  const add = (raw: string): void => {
    const text = visible(raw)
    if (text !== '') parts.push({ text, colour, isBold })
  }
  for (const match of line.matchAll(ESCAPE)) {
    add(line.slice(from, match.index))
    from = match.index + match[0].length
    if (match[2] === 'm') ({ colour, isBold } = restyle(match[1] ?? '', { colour, isBold }))
  }
  add(line.slice(from))
  return parts
}

/** The text of a line without escape sequences, for search and copies. */
export function plainText(line: string): string {
  return visible(line.replaceAll(ESCAPE, ''))
}

function visible(text: string): string {
  return text.replace(/\r+$/, '').replaceAll(/\r+/g, ' ␍ ').replaceAll(CONTROL, '')
}

function restyle(codes: string, style: { colour: string | undefined; isBold: boolean }): { colour: string | undefined; isBold: boolean } {
  let { colour, isBold } = style
  const numbers = codes.split(/[;:]/).map((code) => Number(code === '' ? 0 : code))
  for (let at = 0; at < numbers.length; at += 1) {
    const code = numbers[at] ?? 0
    if (code === 0) [colour, isBold] = [undefined, false]
    else if (code === 1) isBold = true
    else if (code === 22) isBold = false
    else if (code >= 30 && code <= 37) colour = NAMES[code - 30]
    else if (code >= 90 && code <= 97) colour = NAMES[code - 90]
    else if (code === 39) colour = undefined
    // Extended colours: their arguments are skipped.
    else if (code === 38 || code === 48) at += numbers[at + 1] === 5 ? 2 : 4
  }
  return { colour, isBold }
}
