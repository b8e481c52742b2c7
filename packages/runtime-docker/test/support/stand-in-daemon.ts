/**
 * The program of the stand-in distribution, for Node, without imports from anywhere else:
 *
 *   GET  /health          204
 *   POST /run             {"command": [...], "timeoutMs"} -> {"code", "stdout", "stderr"}
 *   GET  /file?path=      the file, or 404
 *   PUT  /file?path=      writes the file
 *   GET  /env             the daemon's environment
 *   POST /dial            {"host", "port"} -> "open", "timeout" or the error's code
 *   GET  /early           the results of the dials of STAND_IN_EARLY (host:port), which are repeated without a pause from the start on
 *   PUT  /memory          keeps the body in memory
 *   GET  /memory          what it has in memory, or 404
 *   POST /end             ends the daemon
 *
 * With STAND_IN_DNS it is also a DNS resolver on STAND_IN_DNS_ADDRESS, which returns that address for every name.
 */
export const daemonSource = `
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { createSocket } from 'node:dgram'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'

function run({ command: [file, ...args], timeoutMs = 20_000 }) {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs, killSignal: 'SIGKILL' })
    const text = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (chunk) => (text[name] += chunk))
    child.on('error', (err) => resolve({ code: -1, stdout: '', stderr: String(err) }))
    child.on('close', (code, signal) => resolve({ code: code ?? signal, ...text }))
  })
}

function dial({ host, port }) {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1500 })
    const end = (outcome) => (socket.destroy(), resolve(outcome))
    socket.on('connect', () => end('open')).on('timeout', () => end('timeout')).on('error', (err) => end(err.code))
  })
}

let memory
const early = new Set()
/** Ends a second after the first refusal: the rules are in force by then. */
async function dialWithoutPause(host, port) {
  for (let until = Date.now() + 20000; Date.now() < until; ) {
    const outcome = await dial({ host, port })
    if (outcome === 'ECONNREFUSED' && !early.has(outcome)) until = Date.now() + 1000
    early.add(outcome)
  }
}
if (process.env.STAND_IN_EARLY) dialWithoutPause(...process.env.STAND_IN_EARLY.split(':'))

if (process.env.STAND_IN_DNS) {
  const address = process.env.STAND_IN_DNS.split('.').map(Number)
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address: from }) => {
    let end = 12
    while (query[end] !== 0) end += query[end] + 1
    const question = query.subarray(12, end + 5)
    const isA = query.readUInt16BE(end + 1) === 1
    const header = Buffer.from([query[0], query[1], 0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0])
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address])
    socket.send(Buffer.concat(isA ? [header, question, record] : [header, question]), port, from)
  })
  // Answers must come from the address that received the query, which the machine gets later.
  const bind = () => socket.bind(53, process.env.STAND_IN_DNS_ADDRESS)
  socket.on('error', () => setTimeout(bind, 20))
  bind()
}

async function answer(request, url) {
  const path = url.searchParams.get('path')
  switch (request.method + ' ' + url.pathname) {
    case 'GET /health': return [204]
    case 'POST /end': setTimeout(() => process.exit(1), 20); return [204]
    case 'PUT /memory': memory = await buffer(request); return [204]
    case 'GET /memory': return memory === undefined ? [404] : [200, memory]
    case 'GET /env': return [200, JSON.stringify(process.env)]
    case 'POST /run': return [200, JSON.stringify(await run(JSON.parse(await buffer(request))))]
    case 'POST /dial': return [200, await dial(JSON.parse(await buffer(request)))]
    case 'GET /early': return [200, JSON.stringify([...early])]
    case 'PUT /file': await writeFile(path, await buffer(request)); return [204]
    case 'GET /file': return [200, await readFile(path)]
    default: return [404]
  }
}

createServer((request, response) => {
  answer(request, new URL(request.url, 'http://daemon')).then(
    ([status, body]) => response.writeHead(status).end(body),
    (err) => response.writeHead(err.code === 'ENOENT' ? 404 : 500).end(String(err)),
  )
}).listen(49983, '0.0.0.0')
`
