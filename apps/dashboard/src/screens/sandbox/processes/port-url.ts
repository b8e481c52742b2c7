/** The address of a port from outside; the scheme is that of the server's own address for sandboxes. */
export function portUrl(sandboxId: string, port: number, server: { readonly domain: string; readonly sandboxUrl: string }): string {
  const scheme = server.sandboxUrl.startsWith('https:') ? 'https' : 'http'
  return `${scheme}://${port}-${sandboxId}.${server.domain}/`
}

/** A port number of a text; undefined for anything else. */
export function portOf(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text.trim()) ? Number(text) : 0
  return port >= 1 && port <= 65_535 ? port : undefined
}
