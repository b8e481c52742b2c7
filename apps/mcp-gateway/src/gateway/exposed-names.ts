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

/**
 * Gives each item a name that no other has: the first server keeps the name of an item, and a later one with the same name gets the
 * name of its server in front.
 */
export function toExposed<Server extends Owner, Item extends Owner>(
  servers: readonly Server[],
  itemsOf: (server: Server) => readonly Item[],
): Map<string, Exposed<Server, Item>> {
  const exposed = new Map<string, Exposed<Server, Item>>()
  for (const server of servers) {
    for (const item of itemsOf(server)) {
      let name = item.name
      const prefixed = `${server.name.replaceAll(NOT_ALLOWED, '_')}__${item.name}`.slice(0, MAX_LENGTH)
      for (let number = 1; exposed.has(name); number += 1) name = number === 1 ? prefixed : `${prefixed.slice(0, MAX_LENGTH - 4)}_${number}`
      exposed.set(name, { name, server, item })
    }
  }
  return exposed
}
