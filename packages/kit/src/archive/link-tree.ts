/** What a path is to the links that are known. */
export type LinkRelation = 'link' | 'below'

/** Null is a link: nothing below it counts. */
type Directory = Map<string, Directory | null>

/** More than an empty map takes, so that many short names are not cheaper to ask for than to keep. */
const DIRECTORY_BYTES = 256
const NAME_BYTES = 64

/** The paths of links. To look a path up takes no longer than to read it, however deep it is and however many links there are. */
export class LinkTree {
  readonly #root: Directory = new Map()
  #bytes = 0

  /** About what it takes of memory. */
  get bytes(): number {
    return this.#bytes
  }

  /** @param path - relative, without `.`, `..` and empty segments */
  add(path: string): void {
    let directory = this.#root
    for (const { name, isLast } of segmentsOf(path)) {
      const known = directory.get(name)
      if (known === null) return
      if (known === undefined) this.#bytes += NAME_BYTES + name.length
      if (isLast) {
        directory.set(name, null)
        return
      }
      const next: Directory = known ?? new Map()
      if (known === undefined) {
        this.#bytes += DIRECTORY_BYTES
        directory.set(name, next)
      }
      directory = next
    }
  }

  /** Whether a path is that of a link or leads through one. */
  find(path: string): LinkRelation | undefined {
    let directory = this.#root
    for (const { name, isLast } of segmentsOf(path)) {
      const next = directory.get(name)
      if (next === undefined) return undefined
      if (next === null) return isLast ? 'link' : 'below'
      directory = next
    }
    return undefined
  }
}

/** One after the other: most paths are known to lead nowhere after the first. */
function* segmentsOf(path: string): Generator<{ readonly name: string; readonly isLast: boolean }> {
  let start = 0
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', start)) {
    yield { name: path.slice(start, end), isLast: false }
    start = end + 1
  }
  yield { name: path.slice(start), isLast: true }
}
