import { serveJobs } from '../workers/serve-jobs.ts'
import { readJson } from './read-json.ts'

serveJobs(readJson)
