import { randomBytes } from 'node:crypto'
import { countEach, runMany, scaled, type Attack } from './attack.ts'
import { callApi } from './http-call.ts'

const REQUESTS = 4000
const WIDTH = 64

/** Requests of a team for sandboxes and templates that do not exist, each with another id. */
export const unknownIds: Attack = {
  name: 'unknown ids, control plane',
  async run(target, signal) {
    const count = scaled(target, REQUESTS)
    const ask = async (index: number): Promise<string> => {
      const id = randomBytes(10).toString('hex')
      const operations = [`GET /sandboxes/i${id.slice(1)}`, `DELETE /sandboxes/i${id.slice(1)}`, `GET /templates/${id}`]
      return (await callApi(target, operations[index % operations.length] ?? '', undefined, signal)).status
    }
    const statuses = await runMany({ count, width: WIDTH }, ask, signal)
    const faults = statuses.filter((status) => !['404', '429'].includes(status))
    return {
      sent: `${count} requests for as many unknown ids, ${WIDTH} at a time`,
      observed: countEach(statuses),
      ...(faults.length > 0 && { faults: [`answers other than 404 and 429: ${countEach(faults)}`] }),
    }
  },
}
