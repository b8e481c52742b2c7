import { serveJobs } from '../../workers/serve-jobs.ts'
import { checkDockerfile } from './check-dockerfile.ts'

serveJobs(checkDockerfile)
