/** The answer on one connection. */
export interface WireAnswer {
  /** 0 if no head arrived. */
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** The body without transfer coding, but with content coding. */
  readonly body: Buffer
  /** Whether the body is as long as the head announces. */
  readonly end: 'whole' | 'cut' | 'late'
}

/** Parses the bytes of one connection; skips interim answers (1xx). */
export function parseAnswer(bytes: Buffer, isLate: boolean): WireAnswer {
  const incomplete = isLate ? 'late' : 'cut'
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return { status: 0, headers: [], body: bytes, end: incomplete }
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const status = Number(statusLine.split(' ')[1])
  const rest = bytes.subarray(headEnd + 4)
  if (status >= 100 && status < 200) return parseAnswer(rest, isLate)

  const headers = lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const
  })
  const { body, isWhole } = parseBody(rest, headers)
  return { status, headers, body, end: isWhole || status === 204 || status === 304 ? 'whole' : incomplete }
}

export function headerOf(answer: WireAnswer, name: string): string | undefined {
  return answer.headers.find(([header]) => header.toLowerCase() === name)?.[1]
}

function parseBody(rest: Buffer, headers: WireAnswer['headers']): { body: Buffer; isWhole: boolean } {
  const find = (name: string): string | undefined => headers.find(([header]) => header.toLowerCase() === name)?.[1]
  if (find('transfer-encoding')?.toLowerCase() === 'chunked') return parseChunks(rest)
  const length = find('content-length')
  return { body: rest, isWhole: length === undefined || rest.length === Number(length) }
}

function parseChunks(bytes: Buffer): { body: Buffer; isWhole: boolean } {
  const chunks: Buffer[] = []
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return { body: Buffer.concat(chunks), isWhole: false }
    const length = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    if (length === 0) return { body: Buffer.concat(chunks), isWhole: true }
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + length))
    at = lineEnd + 2 + length + 2
  }
}
