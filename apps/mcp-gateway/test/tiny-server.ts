import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'

/** A server of the tests over stdio. Its argument is its name. */
const [, , name = ''] = process.argv
const server = new McpServer({ name, version: '1.0.0' })
const text = (text: string): { content: [{ type: 'text'; text: string }] } => ({ content: [{ type: 'text', text }] })

server.registerTool('who', {}, () => text(name))
// oxlint-disable-next-line node/no-process-env -- what children get is under test
server.registerTool('environment', {}, () => text(JSON.stringify({ ...process.env, argv: process.argv })))
server.registerTool('process', {}, () => text(String(process.pid)))
server.registerTool('grow', {}, () => {
  server.registerTool('grown', {}, () => text('grown'))
  return text('')
})
const goOn = Promise.withResolvers<void>()
server.registerTool('go-on', {}, () => {
  goOn.resolve()
  return text('')
})
// The library of the protocol drops progress that comes together with the result, so the call ends when the client has seen it.
server.registerTool('step', {}, async ({ _meta, sendNotification }) => {
  const progressToken = _meta?.progressToken
  if (progressToken !== undefined)
    await sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } })
  await goOn.promise
  return text('done')
})
server.registerPrompt('greet', {}, () => ({ messages: [{ role: 'user', content: { type: 'text', text: `hello from ${name}` } }] }))
server.registerResource('fixed', `tiny://${name}/fixed`, {}, (uri) => ({ contents: [{ uri: uri.href, text: `fixed of ${name}` }] }))
server.registerResource('any', new ResourceTemplate(`tiny://${name}/any/{id}`, { list: undefined }), {}, (uri) => ({
  contents: [{ uri: uri.href, text: `${uri.pathname} of ${name}` }],
}))
await server.connect(new StdioServerTransport())
