import { EGRESS_GATEWAY_SETTING } from '@sandyard/db/egress-gateway-setting'
import { runLoop } from '@sandyard/kit/lifecycle/run-loop'
import type { EgressContext } from './context.ts'
import { listenOn, type Listening } from './gateway.ts'

const EVERY_MS = 1000

/**
 * Listens on the address that the api has stored, as soon as it is there and exists on this host, and on the next one when it changes.
 * Disposing stops listening.
 */
export function followAddress(ctx: EgressContext): AsyncDisposable {
  let listening: Listening | undefined
  let failed: string | undefined
  const loop = runLoop({ name: 'egress-address', everyMs: EVERY_MS, log: ctx.log }, async () => {
    const host = await readGatewayHost(ctx)
    if (host === ctx.gateway.host && (listening !== undefined || host === undefined)) return
    await listening?.[Symbol.asyncDispose]()
    listening = undefined
    ctx.gateway.host = host
    if (host === undefined) return
    try {
      listening = await listenOn(ctx, host)
      failed = undefined
      ctx.log.info({ host, tcpPort: listening.tcpPort, dnsPort: listening.dnsPort }, 'the egress gateway listens')
    } catch (err) {
      // The address comes with the network of the sandboxes, perhaps later. Said once for each reason.
      const reason = `${host} ${(err as NodeJS.ErrnoException).code}`
      if (reason !== failed) ctx.log.warn({ err, host }, 'the egress gateway cannot listen yet')
      failed = reason
    }
  })
  return {
    async [Symbol.asyncDispose]() {
      await loop.stop()
      await listening?.[Symbol.asyncDispose]()
    },
  }
}

async function readGatewayHost({ database }: EgressContext): Promise<string | undefined> {
  const { db } = database
  const row = await db.selectFrom('server_setting').select('value').where('name', '=', EGRESS_GATEWAY_SETTING).executeTakeFirst()
  return row?.value === '' ? undefined : row?.value
}
