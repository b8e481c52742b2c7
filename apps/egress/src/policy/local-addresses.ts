/**
 * The addresses and networks that the kernel delivers to this host, from the text of `/proc/net/fib_trie`: also those of interfaces without a
 * carrier. Other tables than the two of every host apply to marked packets only.
 */
export function parseLocalAddresses(fibTrie: string): string[] {
  const found = new Set<string>()
  let isCommon = false
  let address = ''
  for (const line of fibTrie.split('\n')) {
    if (/^\S/.test(line)) isCommon = line === 'Main:' || line === 'Local:'
    address = /^ *\|-- (\S+)$/.exec(line)?.[1] ?? address
    const prefix = /^ *\/(\d+) host LOCAL$/.exec(line)?.[1]
    if (isCommon && prefix !== undefined) found.add(`${address}/${prefix}`)
  }
  return [...found]
}
