/** The tag of the process of a terminal begins with it; every server finds a shell by its tag. */
export const TAG_PREFIX = 'dashboard-'
