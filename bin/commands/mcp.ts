/** `logboom mcp`: serves tools for assistants that speak the Model Context Protocol. */
import type { Command } from 'commander';
import { asAction } from '../cli/command-error.ts';
import { addStoreOptions, type StoreFlags } from '../cli/store-client.ts';

const NOTES = `
An assistant starts this command and calls its tools over standard input and output. The tools list services and labels, run log and
metric queries, show patterns, volume and fields, explain queries, and lint rules. They only read, with the tenant and token of
the options; use a token with the scope logs:read. Results are cut to about 30,000 characters.

Examples:
  logboom mcp --addr https://logs.example.com --tenant shop --bearer-token-file ~/.logs-token
  claude mcp add logs -- logboom mcp --context prod`;

export function register(program: Command): void {
  const command = program
    .command('mcp')
    .description('serve read-only tools to assistants (Model Context Protocol)');
  addStoreOptions(command)
    .addHelpText('after', NOTES)
    .action(
      asAction(async (flags: StoreFlags) => {
        const { serveMcp } = await import('../cli/mcp/serve.ts');
        await serveMcp(flags);
      }),
    );
}
