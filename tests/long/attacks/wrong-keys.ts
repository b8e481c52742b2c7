import { randomBytes } from 'node:crypto'
import { countEach, runMany, scaled, type Attack } from './attack.ts'
import { daemonHeaders } from './daemon-call.ts'
import { call } from './http-call.ts'

const KEYS = 5000
const TOKENS = 2000
const WIDTH = 64

/** Requests with unknown API keys of the valid form, and calls of a sandbox's daemon with wrong tokens; each key and token is used once. */
export const wrongKeys: Attack = {
  name: 'wrong keys',
  async run(target, signal) {
    const [keys, tokens] = [scaled(target, KEYS), scaled(target, TOKENS)]
    const withKey = async (): Promise<string> => {
      const headers = { 'X-Api-Key': `e2b_${randomBytes(20).toString('hex')}` }
      return (await call(`${target.apiUrl}/v2/sandboxes`, { headers }, signal)).status
    }
    const withToken = async (): Promise<string> => {
      const headers = { ...daemonHeaders({ ...target, token: randomBytes(32).toString('hex') }), 'Content-Type': 'application/json' }
      return (await call(`${target.proxyUrl}/process.Process/List`, { method: 'POST', headers, body: '{}' }, signal)).status
    }
    const api = await runMany({ count: keys, width: WIDTH }, withKey, signal)
    const daemon = await runMany({ count: tokens, width: WIDTH }, withToken, signal)
    const faults = [...api, ...daemon].filter((status) => !['401', '429'].includes(status))
    return {
      sent: `${keys} requests to the control plane with unknown keys, ${tokens} to a daemon with wrong tokens, ${WIDTH} at a time`,
      observed: `control plane ${countEach(api)}; daemon ${countEach(daemon)}`,
      ...(faults.length > 0 && { faults: [`answers other than 401 and 429: ${countEach(faults)}`] }),
    }
  },
}
