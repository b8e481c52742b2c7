/**
 * The program of the stand-in distribution, for Node, without imports from anywhere else:
 *
 *   GET  /health          204
 *   POST /run             {"command": [...], "timeoutMs"} -> {"code", "stdout", "stderr"}
 *   GET  /file?path=      the file, or 404
 *   PUT  /file?path=      writes the file
 *   GET  /env             the daemon's environment
 */
export const daemonSource = `
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
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

async function answer(request, url) {
  const path = url.searchParams.get('path')
  switch (request.method + ' ' + url.pathname) {
    case 'GET /health': return [204]
    case 'GET /env': return [200, JSON.stringify(process.env)]
    case 'POST /run': return [200, JSON.stringify(await run(JSON.parse(await buffer(request))))]
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
