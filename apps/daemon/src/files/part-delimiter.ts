/** The verdict on bytes that have arrived: how many certainly belong to the part, and whether it ends there. */
export interface Found {
  readonly dataBytes: number
  readonly isEnd: boolean
  /** Of the newline that belongs to the boundary; skipped with the data. */
  readonly newlineBytes: number
}

/** What ends a part of a multipart body: a newline and the boundary. A longer boundary that begins with this one is data. */
export class PartDelimiter {
  readonly #boundary: Buffer
  readonly #delimiter: Buffer

  constructor(boundary: string, newline: '\r\n' | '\n') {
    this.#boundary = Buffer.from(`--${boundary}`, 'latin1')
    this.#delimiter = Buffer.concat([Buffer.from(newline), this.#boundary])
  }

  /** @param isStart whether the part begins with these bytes: one without data may lack the newline */
  find(bytes: Buffer, isStart: boolean): Found {
    if (isStart) {
      if (bytes.length <= this.#boundary.length && isPrefix(bytes, this.#boundary)) return undecided(0)
      const ending = isPrefix(this.#boundary, bytes) ? endingAt(bytes, this.#boundary.length) : 'none'
      if (ending === 'undecided') return undecided(0)
      if (ending === 'whole') return { dataBytes: 0, isEnd: true, newlineBytes: 0 }
    }
    const newlineBytes = this.#delimiter.length - this.#boundary.length
    let from = 0
    for (let at = bytes.indexOf(this.#delimiter); at >= 0; at = bytes.indexOf(this.#delimiter, from)) {
      const ending = endingAt(bytes, at + this.#delimiter.length)
      if (ending === 'undecided') return undecided(at)
      if (ending === 'whole') return { dataBytes: at, isEnd: true, newlineBytes }
      from = at + 1
    }
    return undecided(this.#tailStart(bytes, from))
  }

  /**
   * Classifies the last bytes of the body that {@link find} could not decide: the delimiter up to its boundary, an incomplete
   * delimiter, which is not data, or data.
   */
  findLast(bytes: Buffer, isStart: boolean): Found {
    if (isStart && bytes.equals(this.#boundary)) return { dataBytes: 0, isEnd: true, newlineBytes: 0 }
    if (bytes.equals(this.#delimiter)) {
      return { dataBytes: 0, isEnd: true, newlineBytes: this.#delimiter.length - this.#boundary.length }
    }
    const isBeginning = isPrefix(bytes, this.#delimiter) || (isStart && isPrefix(bytes, this.#boundary))
    return undecided(isBeginning ? 0 : bytes.length)
  }

  /** Where bytes begin that may turn out to be the delimiter once more have arrived; the end where there are none. */
  #tailStart(bytes: Buffer, from: number): number {
    const [first = 0] = this.#delimiter
    const earliest = Math.max(from, bytes.length - this.#delimiter.length)
    for (let at = bytes.indexOf(first, earliest); at >= 0; at = bytes.indexOf(first, at + 1)) {
      if (isPrefix(bytes.subarray(at), this.#delimiter)) return at
    }
    return bytes.length
  }
}

function undecided(dataBytes: number): Found {
  return { dataBytes, isEnd: false, newlineBytes: 0 }
}

/** Whether a boundary may end here: white space or the two dashes of the last boundary follow. */
function endingAt(bytes: Buffer, at: number): 'whole' | 'none' | 'undecided' {
  const following = bytes.toString('latin1', at, at + 2)
  if (following === '' || following === '-') return 'undecided'
  return /^(?:[ \t\r\n]|--)/.test(following) ? 'whole' : 'none'
}

function isPrefix(prefix: Buffer, bytes: Buffer): boolean {
  return prefix.length <= bytes.length && prefix.equals(bytes.subarray(0, prefix.length))
}
