import { expect } from 'vitest'
import type { LookupHost } from '../../src/sandboxes/network/resolve-egress-proxy.ts'
import { waitFor, type Answer, type Server } from './control-plane.ts'
import type { Received, WebhookReceiver } from './webhook-receiver.ts'

export const SECRET = 'a secret of thirty-two characters'
export const TYPES = ['created', 'updated', 'paused', 'resumed', 'checkpointed', 'killed'].map((type) => `sandbox.lifecycle.${type}`)
export const ENV = {
  SANDYARD_SECRETS_KEY: 'ab'.repeat(32),
  SANDYARD_WEBHOOK_ALLOW_PRIVATE: '127.0.0.1',
  SANDYARD_WEBHOOK_RETRIES: '10ms,10ms,10ms',
}

/** What the name `rebinding.test` leads to. */
export const rebinding: { addresses: readonly string[] } = { addresses: ['127.0.0.1'] }
export const lookupHost: LookupHost = async (name) => (name === 'rebinding.test' ? rebinding.addresses : [])

export const typeOf = ({ body }: Received): string => JSON.parse(body).type

/** Calls of tests to the server, and to the receiver, that they have at the moment. */
export function webhookCallers(now: () => { readonly api: Server; readonly receiver: WebhookReceiver }) {
  const call: Server['call'] = (...args) => now().api.call(...args)
  const get = (id: string, path: string): Promise<Answer> => call('GET', `/events/webhooks/${id}${path}`)
  const deliveries = async (id: string, query = ''): Promise<Answer['body'][]> => (await get(id, `/deliveries${query}`)).body.data
  return {
    get,
    deliveries,
    createWebhook: async (fields: object = {}): Promise<string> => {
      const body = { name: 'mine', url: now().receiver.url, events: TYPES, signatureSecret: SECRET, ...fields }
      const { status, body: made } = await call('POST', '/events/webhooks', { body })
      expect(status).toBe(201)
      return made.id
    },
    createSandbox: async (): Promise<string> => (await call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })).body.sandboxID,
    resend: (id: string, deliveryId: string): Promise<Answer> => call('POST', `/events/webhooks/${id}/deliveries/${deliveryId}/resend`),
    /** Oldest first. */
    ended: async (id: string, count = 1): Promise<Answer['body'][]> => {
      await waitFor('the end of the deliveries', async () => {
        return (await deliveries(id)).filter(({ status }) => status !== 'pending').length === count
      })
      return deliveries(id, '?orderAsc=true')
    },
  }
}
