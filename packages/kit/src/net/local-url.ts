/** The URL at which a client on this machine reaches a server that listens on `host`. */
export function localUrl(host: string, port: number): string {
  const reached = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host)
  return `http://${reached}:${port}`
}
