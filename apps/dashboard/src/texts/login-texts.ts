export const loginTexts = {
  title: 'Sign in to Sandyard',
  key: 'Team API key',
  keyHint: 'Begins with “e2b_”. What you see is what the key’s team has.',
  adminToken: 'Admin token',
  adminHint: 'For operators: every team, the host and its checks.',
  toAdmin: 'Use the admin token instead',
  toKey: 'Use a team API key instead',
  signIn: 'Sign in',
  link: 'Or let the server print a one-time link:',
  command: 'sandyard dashboard',
  linkFailed: (message: string) => `The link did not work: ${message}`,
  stays: 'The key is sent once and not kept in the browser.',
}
