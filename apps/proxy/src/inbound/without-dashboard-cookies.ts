/** The names of the dashboard's session (dashboard-and-cli.md 5.3). Cookies ignore ports, so browsers send it to sandboxes on the same host. */
const DASHBOARD_COOKIE = /^\s*(?:__Host-)?sandyard\s*=/

/** Headers as name, value, name, value, without the cookies of the dashboard. A `Cookie` header of which nothing is left is dropped. */
export function withoutDashboardCookies(headers: readonly string[]): string[] {
  const kept: string[] = []
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? ''
    const value = headers[index + 1] ?? ''
    if (name.length !== 6 || name.toLowerCase() !== 'cookie' || !value.includes('sandyard')) {
      kept.push(name, value)
      continue
    }
    const cookies = value.split(';').filter((cookie) => !DASHBOARD_COOKIE.test(cookie))
    const rest = cookies.join(';').trim()
    if (rest !== '') kept.push(name, rest)
  }
  return kept
}
