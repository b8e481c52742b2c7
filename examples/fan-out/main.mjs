// Prepares one sandbox, forks it 20 times, and tries a different parameter in each fork.
// A fork has the files of its origin, so the preparation is done once only.
import { Sandbox } from 'e2b'

const FORKS = 20

const PREPARE = `
import json, random
random.seed(7)
points = [(x / 10, 3 * (x / 10) + random.gauss(0, 0.5)) for x in range(200)]
json.dump(points, open("/home/user/points.json", "w"))
`

// Gradient descent with the learning rate of the command line; prints the mean squared error.
const TRY = `
import json, sys
points, rate, slope = json.load(open("/home/user/points.json")), float(sys.argv[1]), 0.0
for _ in range(50):
    slope -= rate * sum(2 * x * (slope * x - y) for x, y in points) / len(points)
print(sum((slope * x - y) ** 2 for x, y in points) / len(points))
`

/** Runs one variant, and kills the fork whatever happens. */
async function tryRate(fork, rate) {
  try {
    const { stdout } = await fork.commands.run(`python3 try.py ${rate}`)
    return { rate, error: Number(stdout) }
  } finally {
    await fork.kill()
  }
}

const origin = await Sandbox.create({ timeoutMs: 600_000 })
try {
  await origin.files.write([
    { path: 'prepare.py', data: PREPARE },
    { path: 'try.py', data: TRY },
  ])
  await origin.commands.run('python3 prepare.py')

  // The answer comes when all forks have started: a small machine needs longer than the client's usual minute.
  const forks = await origin.fork({ count: FORKS, timeoutMs: 300_000, requestTimeoutMs: 240_000 })
  const started = forks.filter((fork) => fork instanceof Sandbox)
  console.log(`${started.length} of ${FORKS} forks started`)

  const settled = await Promise.allSettled(started.map((fork, index) => tryRate(fork, 0.0002 * (index + 1))))
  const results = settled.filter(({ status }) => status === 'fulfilled').map(({ value }) => value)
  const [best] = results.toSorted((a, b) => a.error - b.error)
  console.log(
    `${results.length} variants ended; the best learning rate is ${best.rate.toFixed(4)} with an error of ${best.error.toFixed(3)}`,
  )
} finally {
  await origin.kill()
}
