import { randomBytes } from 'node:crypto'

const WORDS =
  'connection request response timeout user session cache database query index worker queue token error warning started finished retry'.split(
    ' ',
  )

/** Lines of a log as services write them: times and numbers differ, words repeat. */
export function logText(bytes: number): Buffer {
  const numbers = randomBytes(bytes / 16)
  const lines: string[] = []
  let length = 0
  for (let at = 0; length < bytes; at += 5) {
    const word = (offset: number): string => WORDS[numbers.readUInt8((at + offset) % (numbers.length - 4)) % WORDS.length] ?? ''
    const number = numbers.readUInt32LE(at % (numbers.length - 4))
    const line = `2025-01-01T00:00:00.${number % 1000}Z ${word(1)} ${word(2)} ${word(3)} id=${number} took ${number % 977} ms\n`
    lines.push(line)
    length += line.length
  }
  return Buffer.from(lines.join('')).subarray(0, bytes)
}
