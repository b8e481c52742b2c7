import { runDoctor } from '../../src/dashboard/host/run-doctor.ts'

/** A process that runs the checks until it is killed. Its database is a listener that never answers. */
const [, , databaseUrl = ''] = process.argv
// oxlint-disable-next-line node/no-process-env -- programs that checks call
const environment = { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, DOCKER_HOST: 'unix:///nonexistent/docker.sock' }
await runDoctor({ environment, isDeep: false, signal: new AbortController().signal })
