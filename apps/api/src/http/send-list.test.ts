import Fastify from 'fastify'
import { expect, it } from 'vitest'
import { sendList } from './send-list.ts'

it.each([0, 1, 20, 21, 1000])('sends %i items as one array of the schema, and yields between slices', async (count) => {
  await using app = Fastify()
  const item = { type: 'object', properties: { n: { type: 'integer' } } }
  let [turns, isOver] = [0, false]
  const turn = (): void => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  app.get('/', { schema: { response: { 200: { type: 'array', items: item } } } }, async (_request, reply) => {
    setImmediate(turn)
    const rows = Array.from({ length: count }, (_, n) => n)
    return sendList(reply, rows, (n) => ({ n, unknown: 'x' })).finally(() => (isOver = true))
  })
  const answer = await app.inject('/')
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(answer.json()).toEqual(Array.from({ length: count }, (_, n) => ({ n })))
  expect(turns).toBeGreaterThanOrEqual(Math.ceil(count / 20))
})
