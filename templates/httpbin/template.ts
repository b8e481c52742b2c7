import { Template, waitForURL } from 'e2b'

const SERVE = 'exec gunicorn --bind 0.0.0.0:8080 --workers 1 --threads 8 --keep-alive 5 httpbin:app'

/** The HTTP request and response service of its name, from Debian's packages, as tests of networks use it. */
export const template = Template()
  .fromTemplate('base')
  .aptInstall(['gunicorn', 'python3-httpbin'])
  .setStartCmd(SERVE, waitForURL('http://localhost:8080/status/200'))
