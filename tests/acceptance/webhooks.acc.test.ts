import { createHash } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Sandbox } from 'e2b'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callApi } from './support/api.ts'

const SECRET = 'a secret of thirty-two characters'
const operations = [
  '[POST /events/webhooks] [GET /events/webhooks] [GET /events/webhooks/{webhookID}] [PATCH /events/webhooks/{webhookID}]',
  '[DELETE /events/webhooks/{webhookID}] [GET /events/webhooks/{webhookID}/deliveries] [GET /events/webhooks/{webhookID}/stats]',
  '[GET /events/webhooks/{webhookID}/dead] [POST /events/webhooks/{webhookID}/deliveries/{deliveryID}/resend]',
].join(' ')

const received: { headers: IncomingHttpHeaders; body: string }[] = []
/** Events of other tests arrive too: only those of this sandbox are refused. */
let refused = 'none'
const receiver = createServer((request, response) => {
  void text(request).then((body) => {
    received.push({ headers: request.headers, body })
    response.writeHead(JSON.parse(body).sandboxId === refused ? 410 : 200).end()
  })
})
beforeAll(() => new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve)))
afterAll(() => void receiver.close())

test(`${operations} a receiver gets the signed events of a sandbox, and those again that it refused`, async () => {
  const events = ['sandbox.lifecycle.created', 'sandbox.lifecycle.killed']
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  const created = await callApi('POST /events/webhooks', { body: { name: 'acceptance', url, events, signatureSecret: SECRET } })
  expect(created.status).toBe(201)
  const id = created.body['id'] as string
  try {
    const sandbox = await Sandbox.create({ timeoutMs: 60_000 })
    const ofSandbox = () => received.map(({ body }) => JSON.parse(body)).filter(({ sandboxId }) => sandboxId === sandbox.sandboxId)
    await vi.waitFor(() => expect(ofSandbox()).toHaveLength(1), { timeout: 60_000 })
    refused = sandbox.sandboxId
    await sandbox.kill()
    await vi.waitFor(() => expect(ofSandbox()).toHaveLength(2), { timeout: 60_000 })
    expect(ofSandbox().map(({ type }) => type)).toEqual(events)
    for (const { headers, body } of received) {
      expect(headers['e2b-webhook-id']).toBe(id)
      const digest = createHash('sha256')
        .update(SECRET + body)
        .digest()
      expect(headers['e2b-signature']).toBe(digest.toString('base64').replaceAll('=', ''))
      expect(headers['e2b-signature']).toBe(digest.toString('base64url'))
    }
    await vi.waitFor(async () => expect((await callApi(`GET /events/webhooks/${id}`)).body['enabled']).toBe(false), { timeout: 60_000 })
    const dead = (await callApi(`GET /events/webhooks/${id}/dead`)).body['data'] as { deliveryId: string; eventId: string }[]
    const deliveryId = dead.find(({ eventId }) => eventId === ofSandbox()[1].id)?.deliveryId ?? ''
    expect(deliveryId).not.toBe('')

    refused = 'none'
    expect((await callApi(`PATCH /events/webhooks/${id}`, { body: { enabled: true } })).status).toBe(200)
    expect((await callApi(`POST /events/webhooks/${id}/deliveries/${deliveryId}/resend`)).status).toBe(202)
    const delivered = async () => (await callApi(`GET /events/webhooks/${id}/deliveries?deliveryStatus=delivered&limit=100`)).body['data']
    await vi.waitFor(async () => expect(await delivered()).toContainEqual(expect.objectContaining({ deliveryId })), { timeout: 60_000 })
    expect(received.filter(({ headers }) => headers['e2b-delivery-id'] === deliveryId)).toHaveLength(2)
    expect((await callApi(`GET /events/webhooks/${id}/stats`)).body['buckets']).not.toEqual([])
    expect((await callApi('GET /events/webhooks')).text).toContain(id)
  } finally {
    expect((await callApi(`DELETE /events/webhooks/${id}`)).status).toBe(200)
  }
})
