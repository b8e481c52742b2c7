/** Fields with tokens that no answer to a browser has. */
const TOKENS: ReadonlySet<string> = new Set(['envdAccessToken', 'trafficAccessToken'])
const VOLUME_TOKEN = 'token'
/** Data of users, whose names are theirs. */
const OF_USERS: ReadonlySet<string> = new Set(['metadata', 'envVars', 'envs'])
/** Lists of forks have the sandbox two levels down. */
const MAX_DEPTH = 6

/** A copy of an answer without the tokens of sandboxes and volumes (dashboard-and-cli.md 0.5). @param tag - of the operation */
export function withoutTokens(answer: unknown, tag: string, depth = 0): unknown {
  if (typeof answer !== 'object' || answer === null || depth > MAX_DEPTH) return answer
  if (Array.isArray(answer)) return answer.map((item) => withoutTokens(item, tag, depth + 1))
  if (Object.getPrototypeOf(answer) !== Object.prototype) return answer
  const entries = Object.entries(answer).flatMap(([name, value]): [string, unknown][] => {
    if (TOKENS.has(name)) return []
    // The schemas of volumes require it.
    if (tag === 'volumes' && name === VOLUME_TOKEN) return [[name, '']]
    return [[name, OF_USERS.has(name) ? value : withoutTokens(value, tag, depth + 1)]]
  })
  return Object.fromEntries(entries)
}
