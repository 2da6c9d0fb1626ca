/* A lid-driven cavity, laminar, for some steps; the fields of the last step are written as text. */
#include <math.h>
#include <mpi.h>
#include <ple_coupling.h>
#include <stdio.h>
#include <stdlib.h>

#include "cs_defs.h"
#include "cs_headers.h"

void wrongUses(int count); /* wrong_uses.c */

void cs_user_model(void) {
  cs_get_glob_turb_model()->iturb = CS_TURB_NONE;
  cs_get_glob_thermal_model()->itherm = 0;
}

void cs_user_parameters(cs_domain_t* domain) {
  cs_get_glob_time_step_options()->idtvar = 0;
  domain->time_step->dt_ref = 0.02;
  domain->time_step->nt_max = getenv("WRONG_USES") != NULL ? 1 : 10;
  cs_fluid_properties_t* fluid = cs_get_glob_fluid_properties();
  fluid->ro0 = 1;
  fluid->viscl0 = 0.01;
}

void cs_user_extra_operations(cs_domain_t* domain) {
  if (getenv("WRONG_USES") != NULL) wrongUses(atoi(getenv("WRONG_USES")));
  if (domain->time_step->nt_cur != domain->time_step->nt_max) return;
  char name[40];
  snprintf(name, sizeof name, "fields.%d", cs_glob_rank_id < 0 ? 0 : cs_glob_rank_id);
  FILE* file = fopen(name, "w");
  const cs_mesh_t* mesh = domain->mesh;
  const cs_real_t* p = CS_F_(p)->val;
  const cs_real_3_t* u = (const cs_real_3_t*)CS_F_(vel)->val;
  for (cs_lnum_t cell = 0; cell < mesh->n_cells; ++cell) {
    const unsigned long long number = mesh->global_cell_num != NULL ? mesh->global_cell_num[cell] : (cs_gnum_t)cell + 1;
    fprintf(file, "%llu %.15e %.15e %.15e\n", number, p[cell], u[cell][0], u[cell][1]);
  }
  fclose(file);
}
