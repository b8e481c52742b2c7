interface Owner {
  readonly name: string
}

export interface Exposed<Server extends Owner, Item extends Owner> {
  readonly name: string
  readonly server: Server
  readonly item: Item
}

/** Most clients allow these characters and this length. */
const [NOT_ALLOWED, MAX_LENGTH] = [/[^\w-]/g, 64]

/** Names of items that are not listed at the moment are forgotten beyond this number. */
const MAX_REMEMBERED = 10_000

/**
 * Gives each item a name that no other has, and keeps it while the gateway runs: the first server that lists a name has it as it is, and for
 * others it has the name of their server in front. A server that is installed late therefore changes no name that clients know.
 */
export class ExposedNames {
  /** By a number, the server and the name of the item; the number tells items apart that one server lists under one name. */
  readonly #given = new Map<string, string>()
  readonly #taken = new Set<string>()

  /** What the servers list now, by the given name. */
  of<Server extends Owner, Item extends Owner>(
    servers: readonly Server[],
    itemsOf: (server: Server) => readonly Item[],
  ): Map<string, Exposed<Server, Item>> {
    const exposed = new Map<string, Exposed<Server, Item>>()
    const listed = new Map<string, string>()
    const counts = new Map<string, number>()
    for (const [position, server] of servers.entries()) {
      for (const item of itemsOf(server)) {
        const own = `${position} ${item.name}`
        const count = (counts.get(own) ?? 0) + 1
        counts.set(own, count)
        const key = `${count} ${own}`
        const name = this.#given.get(key) ?? this.#give(key, server, item)
        listed.set(key, name)
        exposed.set(name, { name, server, item })
      }
    }
    if (this.#given.size > MAX_REMEMBERED) this.#keepOnly(listed)
    return exposed
  }

  #give(key: string, server: Owner, item: Owner): string {
    let name = item.name
    const prefixed = `${server.name.replaceAll(NOT_ALLOWED, '_')}__${item.name}`.slice(0, MAX_LENGTH)
    for (let number = 1; this.#taken.has(name); number += 1)
      name = number === 1 ? prefixed : `${prefixed.slice(0, MAX_LENGTH - 1 - String(number).length)}_${number}`
    this.#given.set(key, name)
    this.#taken.add(name)
    return name
  }

  #keepOnly(listed: ReadonlyMap<string, string>): void {
    this.#given.clear()
    this.#taken.clear()
    for (const [key, name] of listed) {
      this.#given.set(key, name)
      this.#taken.add(name)
    }
  }
}
